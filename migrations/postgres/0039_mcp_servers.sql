CREATE TABLE "mcp_servers" (
	"name" text PRIMARY KEY NOT NULL,
	"sealed_settings" text,
	"is_enabled" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
