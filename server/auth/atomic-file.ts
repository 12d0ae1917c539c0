// Replaces a file with a secret: readable by its owner only, and never half written.

import { randomBytes } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../lib/make-folder.ts'

/** Readers see the old or the new text, even after a crash. Only the owner of the process may read the file. */
export function writeFileAtomically(file: string, text: string): void {
  makeFolder(dirname(file))
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    fchmodSync(descriptor, 0o600)
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, file)
}
