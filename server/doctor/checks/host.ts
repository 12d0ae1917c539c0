// Checks Node, folders, free disk space and the built page.
import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Finding, fine } from '../finding.ts'

const LOW_SPACE_BYTES = 500 * 1024 * 1024

/** Checks the version of Node. */
export async function checkNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24
  if (fits) return [fine('node_ok', 'Node', process.version, { version: process.version })]
  return [
    {
      state: 'warn',
      code: 'node_untested',
      params: { version: process.version },
      subject: 'Node',
      detail: `NanoClaw is not tested on ${process.version}`,
      advice: 'Install Node 20.19, 22.14, 24 or later.',
    },
  ]
}

/** Checks a folder that the server writes to: it exists or can be created, is writable and private, and has free space. */
export async function checkFolder(subject: string, path: string): Promise<Finding[]> {
  const folder = resolve(path)
  const present = await stat(folder).catch(() => undefined)
  const existingFolder = present === undefined ? await nearestFolder(folder) : folder
  if (present !== undefined && !present.isDirectory())
    return [
      {
        state: 'fail',
        code: 'folder_not_folder',
        params: { name: subject, folder },
        subject,
        detail: `${folder} is not a folder`,
        advice: 'Move it away, or set another folder in config.yml.',
      },
    ]
  const isWritable = await access(existingFolder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable)
    return [
      {
        state: 'fail',
        code: 'folder_not_writable',
        params: { name: subject, folder: existingFolder },
        subject,
        detail: `${existingFolder} is not writable for this user`,
        advice: `chown or chmod it, or set another folder in config.yml.`,
      },
    ]
  const findings = [
    present === undefined
      ? fine('folder_created_later', subject, `${folder} will be created`, {
          name: subject,
          folder,
        })
      : fine('folder_ok', subject, folder, { name: subject, folder }),
  ]
  const { bavail, bsize } = await statfs(existingFolder)
  if (bavail * bsize < LOW_SPACE_BYTES)
    findings.push({
      state: 'warn',
      code: 'folder_low_space',
      params: { name: subject, megabytes: Math.floor((bavail * bsize) / 1024 ** 2) },
      subject,
      detail: `only ${Math.floor((bavail * bsize) / 1024 ** 2)} MB are free`,
      advice: 'Free some space: writes fail when the disk is full.',
    })
  if (present !== undefined && (present.mode & 0o077) !== 0)
    findings.push({
      state: 'warn',
      code: 'folder_readable',
      params: { name: subject, folder },
      subject,
      detail: 'other users of this machine can read it',
      advice: `chmod 700 ${folder}`,
    })
  return findings
}

async function nearestFolder(folder: string): Promise<string> {
  for (let place = folder; ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined)
    if (found !== undefined || place === dirname(place)) return place
  }
}

/** Whether the page is built. */
export async function checkPage(webRoot: string): Promise<Finding[]> {
  const isBuilt = await stat(join(webRoot, 'index.html')).then(
    () => true,
    () => false,
  )
  if (isBuilt) return [fine('page_built', 'page', 'built')]
  return [
    {
      state: 'warn',
      code: 'page_not_built',
      params: {},
      subject: 'page',
      detail: 'not built',
      advice: 'npm run build',
    },
  ]
}
