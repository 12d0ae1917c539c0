// Converts paths to a tree of folders.
import type { FileEntry } from './result-kinds.ts'

/** A file, or a folder with its `children`. `name` is the last segment of the path. */
export type Branch = FileEntry & { name: string; children: Branch[] }

/** Keeps the order of the entries. Folders that contain only one folder share a line with it. */
export function treeOf(entries: readonly FileEntry[]): readonly Branch[] {
  const root: Branch = { name: '', path: '', folder: true, children: [] }
  const folders = new Map<string, Branch>([['', root]])
  const folderAt = (path: string): Branch => {
    const known = folders.get(path)
    if (known !== undefined) return known
    const cut = path.lastIndexOf('/')
    const folder: Branch = { name: path.slice(cut + 1), path, folder: true, children: [] }
    folders.set(path, folder)
    folderAt(path.slice(0, Math.max(cut, 0))).children.push(folder)
    return folder
  }
  for (const entry of entries) {
    const path = entry.path.replace(/^\.?\/+|\/+$/g, '').replace(/\/{2,}/g, '/')
    if (entry.folder) folderAt(path)
    else {
      const cut = path.lastIndexOf('/')
      const name = path.slice(cut + 1)
      folderAt(path.slice(0, Math.max(cut, 0))).children.push({ ...entry, name, children: [] })
    }
  }
  return root.children.map(joined)
}

function joined(branch: Branch): Branch {
  const [only] = branch.children
  if (branch.children.length === 1 && only?.folder === true)
    return joined({ ...only, name: `${branch.name}/${only.name}` })
  return { ...branch, children: branch.children.map(joined) }
}
