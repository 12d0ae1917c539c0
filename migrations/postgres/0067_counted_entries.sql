-- Short files, folders and links count from now on: what each project counts is measured again, when it is next needed.
UPDATE "projects" SET "size" = NULL;
