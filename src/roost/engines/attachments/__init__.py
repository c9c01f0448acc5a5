"""Where the attachments of support tickets are: a folder, or a bucket of any S3 server."""
