CREATE TABLE "checkpoint_files" (
	"checkpoint_id" text NOT NULL,
	"first" integer NOT NULL,
	"files" json NOT NULL,
	CONSTRAINT "checkpoint_files_checkpoint_id_first_pk" PRIMARY KEY("checkpoint_id","first")
);
--> statement-breakpoint
-- Existing checkpoints become one page each: files first, then folders, which are listed only if nothing else changed.
INSERT INTO "checkpoint_files" ("checkpoint_id", "first", "files")
SELECT c."id", 0, coalesce((
	SELECT json_agg(e."value" ORDER BY coalesce(e."value" #>> '{before,kind}', e."value" #>> '{after,kind}', '') = 'directory', e."place")
	FROM json_array_elements(c."files") WITH ORDINALITY AS e("value", "place")
), '[]'::json) FROM "checkpoints" c;
--> statement-breakpoint
ALTER TABLE "checkpoints" ADD COLUMN "file_count" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "checkpoints" ADD COLUMN "sample" json DEFAULT '[]'::json NOT NULL;
--> statement-breakpoint
UPDATE "checkpoints" SET "file_count" = coalesce(
	nullif((
		SELECT count(*) FROM json_array_elements("checkpoints"."files") AS e("value")
		WHERE coalesce(e."value" #>> '{before,kind}', e."value" #>> '{after,kind}', '') <> 'directory'
	), 0),
	json_array_length("files")
);
--> statement-breakpoint
UPDATE "checkpoints" SET "sample" = coalesce((
	SELECT json_agg(json_build_object('path', e."value" ->> 'path', 'change', e."value" ->> 'change') ORDER BY e."place")
	FROM "checkpoint_files" p, json_array_elements(p."files") WITH ORDINALITY AS e("value", "place")
	WHERE p."checkpoint_id" = "checkpoints"."id" AND e."place" <= least(20, "checkpoints"."file_count")
), '[]'::json);
--> statement-breakpoint
ALTER TABLE "checkpoints" ALTER COLUMN "file_count" DROP DEFAULT;
--> statement-breakpoint
ALTER TABLE "checkpoints" ALTER COLUMN "sample" DROP DEFAULT;
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "size" bigint;
--> statement-breakpoint
ALTER TABLE "checkpoint_files" ADD CONSTRAINT "checkpoint_files_checkpoint_id_checkpoints_id_fk" FOREIGN KEY ("checkpoint_id") REFERENCES "public"."checkpoints"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "documents_user" ON "documents" USING btree ("user_id","size");
--> statement-breakpoint
ALTER TABLE "checkpoints" DROP COLUMN "files";
