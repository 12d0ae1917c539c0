CREATE TABLE "mcp_app_domains" (
	"user_id" text NOT NULL,
	"server" text NOT NULL,
	"hash" text NOT NULL,
	"domains" json NOT NULL,
	"allowed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "mcp_app_domains_user_id_server_hash_pk" PRIMARY KEY("user_id","server","hash")
);
--> statement-breakpoint
ALTER TABLE "mcp_app_domains" ADD CONSTRAINT "mcp_app_domains_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
