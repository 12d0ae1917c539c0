CREATE TABLE "mcp_clients" (
	"issuer" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"sealed" text NOT NULL,
	CONSTRAINT "mcp_clients_issuer_redirect_uri_pk" PRIMARY KEY("issuer","redirect_uri")
);
--> statement-breakpoint
CREATE TABLE "mcp_grants" (
	"user_id" text NOT NULL,
	"server" text NOT NULL,
	"sealed" text NOT NULL,
	CONSTRAINT "mcp_grants_user_id_server_pk" PRIMARY KEY("user_id","server")
);
--> statement-breakpoint
ALTER TABLE "mcp_grants" ADD CONSTRAINT "mcp_grants_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
