// The optional engine `host`: the host's python3 with its native packages, always inside bubblewrap.
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BubblewrapState, bubblewrapArguments } from '../../bubblewrap.ts'
import { type Launcher, MAX_OUTPUT_BYTES, MAX_RESULT_BYTES, MAX_RESULT_FILES } from '../launch.ts'

const MAX_MEMORY_BYTES = 640 * 1024 * 1024
const MAX_FILE_BYTES = 50 * 1024 * 1024
const MAX_CPU_SECONDS = 60
/** Maximum bytes of /workspace, of /skills and of /output, each held in memory. */
const MAX_FOLDER_BYTES = 64 * 1024 * 1024
/** The only paths: other folders, such as those of version managers, are not visible inside. */
const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3']
const INSIDE = '/nanoclaw'
const NOBODY = { uid: 65534, gid: 65534 }

/** Returns an untested launcher for the host's Python, or the reason why there is none. */
export async function createHostLauncher(
  bubblewrap: BubblewrapState,
): Promise<{ launcher: Launcher } | { fault: string }> {
  if (!bubblewrap.available)
    return { fault: `the host's Python needs bubblewrap: ${bubblewrap.reason}` }
  const python = await firstOf(PYTHONS)
  if (python === null)
    return { fault: `there is no python3 in ${PYTHONS.map((path) => dirname(path)).join(' or ')}` }
  const here = import.meta.url
  const folder = await realpath(
    fileURLToPath(new URL(here.endsWith('.ts') ? '../../child/' : './sandbox/child/', here)),
  )
  const wrapping = await bubblewrapArguments({
    readOnly: [{ host: folder, inside: INSIDE }],
    workingDirectory: '/output',
    network: 'none',
    temporaryBytes: MAX_FOLDER_BYTES,
  })
  const folders = ['/workspace', '/skills', '/output'].flatMap((path) => [
    '--size',
    String(MAX_FOLDER_BYTES),
    '--tmpfs',
    path,
  ])
  const environment = { HOME: '/output', MPLBACKEND: 'Agg', OPENBLAS_NUM_THREADS: '1' }
  const settings = Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])
  const options = {
    maxMemoryBytes: MAX_MEMORY_BYTES,
    maxFileBytes: MAX_FILE_BYTES,
    maxCpuSeconds: MAX_CPU_SECONDS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    maxResultBytes: MAX_RESULT_BYTES,
    maxResultFiles: MAX_RESULT_FILES,
  }
  return {
    launcher: {
      isolation: 'kernel',
      command: ({ mode }) => ({
        command: bubblewrap.path,
        args: [
          ...wrapping.slice(0, -1),
          ...folders,
          ...settings,
          '--',
          python,
          '-I',
          '-B',
          '-X',
          'utf8',
          join(INSIDE, 'host_interpreter.py'),
          JSON.stringify({ ...options, mode }),
        ],
        // The limit on processes does not apply to root.
        ...(process.getuid?.() === 0 ? { user: NOBODY } : {}),
      }),
    },
  }
}

async function firstOf(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const found = await realpath(path).catch(() => null)
    if (found !== null) return path
  }
  return null
}
