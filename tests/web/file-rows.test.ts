// The file tree without the page: which rows are visible, and what each key does.
import { describe, expect, test } from 'vitest'
import {
  foldersOf,
  moveOf,
  type Row,
  rowStartingWith,
  visibleRows,
} from '../../web/src/features/projects/file-rows.ts'

const listing = (folder: string, directories: string[], files: string[]) => {
  const inFolder = (name: string): string => (folder === '' ? name : `${folder}/${name}`)
  return {
    current_path: folder,
    directories: directories.map((name) => ({ name, path: inFolder(name) })),
    files: files.map((name) => ({ name, path: inFolder(name), size: 3, extension: '' })),
    total_files: files.length,
    total_dirs: directories.length,
  }
}
const listings = new Map([
  ['', listing('', ['docs', 'src'], ['README.md', 'setup.py'])],
  ['src', listing('src', ['lib'], ['Start.ts'])],
  ['src/lib', listing('src/lib', [], [])],
])
const rows = visibleRows(listings, new Set(['src', 'src/lib']))
const at = (path: string): number => rows.findIndex((row) => row.path === path)
const press = (key: string, path: string, inward: 'ArrowLeft' | 'ArrowRight' = 'ArrowRight') => {
  const move = moveOf(key, rows, at(path), inward)
  if (move === undefined) return undefined
  return 'to' in move ? move.to.path : `toggle ${move.toggle.path}`
}
const pathOf = (row: Row | undefined): string | undefined => row?.path

describe('visible rows', () => {
  test('the entries of open folders stand below them, with level, place and number of siblings', () => {
    expect(
      rows.map(({ path, level, place, siblings }) => `${path} ${level} ${place}/${siblings}`),
    ).toEqual([
      'docs 1 1/4',
      'src 1 2/4',
      'src/lib 2 1/2',
      'src/Start.ts 2 2/2',
      'README.md 1 3/4',
      'setup.py 1 4/4',
    ])
  })

  test('an open folder that has not loaded yet has no rows below it', () => {
    expect(visibleRows(new Map(), new Set(['src']))).toEqual([])
    const open = visibleRows(new Map([['', listing('', ['src'], [])]]), new Set(['src']))
    expect(open.map(({ path, isOpen }) => [path, isOpen])).toEqual([['src', true]])
  })

  test('the folders around a file are named from the outermost to the innermost', () => {
    expect(foldersOf('a/b/c.ts')).toEqual(['a', 'a/b'])
    expect(foldersOf('c.ts')).toEqual([])
  })
})

describe('keys', () => {
  test('up, down, Home and End move through all visible rows and stop at the ends', () => {
    expect(press('ArrowDown', 'src')).toBe('src/lib')
    expect(press('ArrowUp', 'src')).toBe('docs')
    expect(press('ArrowUp', 'docs')).toBeUndefined()
    expect(press('ArrowDown', 'setup.py')).toBeUndefined()
    expect(press('Home', 'setup.py')).toBe('docs')
    expect(press('End', 'docs')).toBe('setup.py')
  })

  test('the inward arrow opens a closed folder, then moves to its first entry', () => {
    expect(press('ArrowRight', 'docs')).toBe('toggle docs')
    expect(press('ArrowRight', 'src')).toBe('src/lib')
    // An empty folder has no first entry; the row below belongs to another folder.
    expect(press('ArrowRight', 'src/lib')).toBeUndefined()
    expect(press('ArrowRight', 'README.md')).toBeUndefined()
  })

  test('the outward arrow closes an open folder, else moves to the folder around the row', () => {
    expect(press('ArrowLeft', 'src')).toBe('toggle src')
    expect(press('ArrowLeft', 'src/Start.ts')).toBe('src')
    expect(press('ArrowLeft', 'docs')).toBeUndefined()
  })

  test('on a right-to-left page, the arrow keys are mirrored', () => {
    expect(press('ArrowLeft', 'docs', 'ArrowLeft')).toBe('toggle docs')
    expect(press('ArrowRight', 'src/Start.ts', 'ArrowLeft')).toBe('src')
  })

  test('letters find the next row that starts with them, in any case, around the end', () => {
    expect(pathOf(rowStartingWith('s', rows, at('docs'), 'en'))).toBe('src')
    expect(pathOf(rowStartingWith('s', rows, at('src'), 'en'))).toBe('src/Start.ts')
    expect(pathOf(rowStartingWith('s', rows, at('setup.py'), 'en'))).toBe('src')
    expect(pathOf(rowStartingWith('se', rows, at('src'), 'en'))).toBe('setup.py')
    expect(pathOf(rowStartingWith('sr', rows, at('src'), 'en'))).toBe('src')
    expect(rowStartingWith('x', rows, 0, 'en')).toBeUndefined()
  })
})
