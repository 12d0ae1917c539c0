ALTER TABLE "steps" ADD COLUMN "carry" text;
