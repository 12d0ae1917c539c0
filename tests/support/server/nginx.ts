// nginx with the shipped configuration, in front of instances on loopback.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'

const PROGRAM = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).status === 0)

/** Whether this machine has the program. */
export const hasNginx = PROGRAM !== undefined

export interface Nginx {
  /** Resolves when the process is gone. */
  close(): Promise<void>
}

/** Starts it on a free port. @param urls of the two instances. */
export async function startNginx(port: number, urls: readonly string[]): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-nginx-'))
  const site = urls.reduce(
    (text, url, index) => text.replace(`nanoclaw-${index + 1}:3000`, new URL(url).host),
    readFileSync(resolve(import.meta.dirname, '../../../docker/nginx.conf'), 'utf8').replace(
      'listen 8080;',
      `listen 127.0.0.1:${port};`,
    ),
  )
  writeFileSync(join(folder, 'site.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const configuration = `
    daemon off;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      include ${folder}/site.conf;
    }`
  writeFileSync(join(folder, 'nginx.conf'), configuration)
  const child = spawn(PROGRAM ?? 'nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = new Promise<void>((resolved) => child.once('exit', () => resolved()))
  const isServing = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.ok === true
  await eventually(async () => expect(await isServing()).toBe(true))
  return {
    async close() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
