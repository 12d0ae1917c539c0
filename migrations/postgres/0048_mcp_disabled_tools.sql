ALTER TABLE "mcp_servers" ADD COLUMN "disabled_tools" json;
