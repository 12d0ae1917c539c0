CREATE TABLE "mcp_sign_ins" (
	"state_hash" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"sealed" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mcp_sign_ins" ADD CONSTRAINT "mcp_sign_ins_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "mcp_sign_ins_user" ON "mcp_sign_ins" USING btree ("user_id","expires_at");
--> statement-breakpoint
CREATE INDEX "mcp_sign_ins_expiry" ON "mcp_sign_ins" USING btree ("expires_at");
