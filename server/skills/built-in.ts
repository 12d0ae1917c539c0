// Where the skills are that come with the server: instructions for kinds of tasks, each a folder with a SKILL.md.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The skill whose runs have limits of their own. */
export const RESEARCH = 'research'

/** The skill that is there only where apps are. */
export const MAKE_APP = 'make-app'

/**
 * The folder of the skills that come with the server. The build copies it beside its files; from the sources it is at the
 * top of the repository. @throws Error if the installation is incomplete.
 */
export function builtInSkills(): string {
  const folder = ['./skills/', '../../skills/']
    .map((path) => new URL(path, import.meta.url))
    .find((one) => existsSync(new URL(`${RESEARCH}/SKILL.md`, one)))
  if (folder === undefined) throw new Error('The folder skills is missing. Build the server again.')
  return fileURLToPath(folder)
}
