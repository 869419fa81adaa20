"""What backends share whose jobs an agent of ours places on hosts: pools, and clusters of them."""
