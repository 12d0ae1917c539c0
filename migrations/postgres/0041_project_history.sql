ALTER TABLE "projects" ADD COLUMN "history_size" bigint;
