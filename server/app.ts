// The only file that knows every room: from the configuration to a server that is ready to listen.
import { resolve } from 'node:path'
import { type App, createApp } from './plugins/app.ts'
