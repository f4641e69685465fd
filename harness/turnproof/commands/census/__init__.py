"""What real services refuse: each rule's pair of requests is sent, and what came back is written down."""
