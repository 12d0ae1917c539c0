// Lists source files, for tests that check the code itself.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** All TypeScript files below a folder, as absolute paths; none if the folder does not exist. */
export const sourceFiles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
    : []
