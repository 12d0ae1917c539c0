// The size of the scripts for the first screen, and of the largest script that loads later.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Row } from '../row.ts'
import { row } from './page.ts'

const WEB_ROOT = resolve(import.meta.dirname, '../../dist/web')

const gzipKilobytes = (file: string): number =>
  gzipSync(readFileSync(join(WEB_ROOT, file))).length / 1024

/** Rows for the scripts that index.html references, and for the largest of all others. */
export function measureDownloads(): Row[] {
  const html = readFileSync(join(WEB_ROOT, 'index.html'), 'utf8')
  const first = new Set(
    [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, name]) => name ?? ''),
  )
  const total = [...first].reduce((sum, file) => sum + gzipKilobytes(file), 0)
  const lazy = readdirSync(join(WEB_ROOT, 'assets'))
    .map((name) => `assets/${name}`)
    .filter((name) => name.endsWith('.js') && !first.has(name))
  const largest = Math.max(...lazy.map(gzipKilobytes))
  return [
    row('JavaScript for the first screen, gzip', '≤ 170 KB', total, 'KB', total <= 170),
    row('largest lazy chunk, gzip', '≤ 160 KB', largest, 'KB', largest <= 160),
  ]
}
