ALTER TABLE "api_keys" ADD COLUMN "program_tools" text;
