CREATE TABLE `unused_blobs` (
	`sha256` text PRIMARY KEY NOT NULL,
	`seen_at` integer NOT NULL
);
