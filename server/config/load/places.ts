// Where the configuration and the data of an installation are, if nothing else is said.
import { dirname, join, resolve } from 'node:path'
import type { Environment } from './variables.ts'

/** Absolute folders: where the process was started, and where the program is. */
export interface Places {
  current: string
  installation: string
}

/** A file that may be the configuration, and what it implies. */
export interface Candidate {
  file: string
  /** Whether it is an error if the file does not exist. */
  isNamed: boolean
  /** Whether the presets of the installation hold below it. Files that earlier versions read were complete without them. */
  hasPresets: boolean
  folders: ImpliedFolders
}

/** Where data and projects are if the configuration does not say it, and where they would be by other rules. */
export interface ImpliedFolders {
  defaults: DefaultFolders
  /** Where earlier versions, or the same configuration named in another way, would have them. */
  formers: readonly DefaultFolders[]
}

/** The folders of an installation whose configuration names none; absolute. */
export interface DefaultFolders {
  data_dir: string
  workspace_root: string
}

const NAME = 'config.yml'

/** Beside the program, as in a checkout. */
const beside = (folder: string): DefaultFolders => ({
  data_dir: join(folder, 'data'),
  workspace_root: join(folder, 'workspaces'),
})

/** Everything in one folder, as in the image and for the installed package. */
const within = (folder: string): DefaultFolders => ({
  data_dir: folder,
  workspace_root: join(folder, 'workspaces'),
})

/**
 * The files that may be the configuration, in the order in which they are looked for: the one that `NANOCLAW_CONFIG` names,
 * else `config.yml` in the current folder, in the folder that `NANOCLAW_DATA` names, beside the program, or in its data folder.
 * `NANOCLAW_DATA` names the folder of data and projects, unless the file says otherwise or is named by `NANOCLAW_CONFIG`:
 * the image has always set `NANOCLAW_DATA`, also for containers whose data is beside a file that they name. `none` is for
 * the case that no file exists.
 */
export function candidates(
  environment: Environment,
  { current, installation }: Places,
): { files: Candidate[]; none: ImpliedFolders } {
  // Empty means not set, as when a composition file passes on a variable that does not exist.
  const named = environment.NANOCLAW_CONFIG || undefined
  const data = environment.NANOCLAW_DATA || undefined
  const home = data === undefined ? null : within(resolve(current, data))
  const impliedIn = (folder: string): ImpliedFolders => ({
    defaults: home ?? beside(folder),
    formers: [beside(folder), beside(current)],
  })
  const none = impliedIn(installation)
  if (named !== undefined) {
    const file = resolve(current, named)
    const defaults = beside(dirname(file))
    const formers = [beside(current), ...(home === null ? [] : [home])]
    return {
      files: [{ file, isNamed: true, hasPresets: false, folders: { defaults, formers } }],
      none,
    }
  }
  const dataFolder = none.defaults.data_dir
  const places = [current, ...(home === null ? [] : [dataFolder]), installation, dataFolder]
  return {
    files: places.map((folder) => ({
      file: join(folder, NAME),
      isNamed: false,
      hasPresets: folder === dataFolder,
      // A file in the data folder does not move the data, also if that is the current folder.
      folders: folder === dataFolder ? none : impliedIn(folder),
    })),
    none,
  }
}
