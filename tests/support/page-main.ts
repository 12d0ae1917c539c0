// A server process that tests can kill; it serves the page from any folder: `tsx page-main.ts <folder of the page>`.
import { pino } from 'pino'
import { createServer } from '../../server/app.ts'
import { loadConfig } from '../../server/config/load.ts'

const [, , webRoot = ''] = process.argv
const config = loadConfig(process.env)
const log = pino({ level: 'warn', base: null }, pino.destination({ dest: 2, sync: true }))
const server = await createServer({ config, log, webRoot })
const url = await server.app.listen({ host: config.host, port: config.backend_port })
console.log(`NanoClaw is ready: ${url}`)
