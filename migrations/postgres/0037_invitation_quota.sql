ALTER TABLE "account_links" ADD COLUMN "quota" json;
