"""Amazon EC2, through boto3. README.md says what was tried against what."""
