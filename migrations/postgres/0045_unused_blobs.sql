CREATE TABLE "unused_blobs" (
	"sha256" text PRIMARY KEY NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL
);
