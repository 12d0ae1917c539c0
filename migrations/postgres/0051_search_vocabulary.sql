CREATE TABLE "search_vocabulary" (
	"segment_id" bigint NOT NULL,
	"first" "bytea" NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "search_vocabulary_segment_id_first_pk" PRIMARY KEY("segment_id","first")
);
--> statement-breakpoint
ALTER TABLE "search_vocabulary" ADD CONSTRAINT "search_vocabulary_segment_id_search_segments_id_fk" FOREIGN KEY ("segment_id") REFERENCES "public"."search_segments"("id") ON DELETE cascade ON UPDATE no action;
