"""The TrainJob controller: pure decisions in small modules, and a thin shell around them."""
