// For drizzle-kit's own commands (`check`, `studio`), which read the database; migrations are written by `npm run db:generate -- <name>`. DIALECT=postgres chooses the other database.
import { defineConfig } from 'drizzle-kit'

const dialect = process.env.DIALECT === 'postgres' ? 'postgres' : 'sqlite'

export default defineConfig({
  dialect: dialect === 'postgres' ? 'postgresql' : 'sqlite',
  out: `./migrations/${dialect}`,
  dbCredentials: {
    url: process.env.DATABASE_URL ?? (dialect === 'sqlite' ? './data/nanoclaw.db' : ''),
  },
})
