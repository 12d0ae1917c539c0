// `npm run release -- <version>`: the version and its section of the changelog; the package, its checksum and the bill of
// materials in dist/release, and the image where Docker is installed; then a commit and a tag. Nothing is pushed.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Bytes that a program may print: the bill of materials has more than the 1 MB that Node allows by default. */
const MOST_OUTPUT = 64 * 1024 * 1024
const UNRELEASED = '## [Unreleased]\n'

/**
 * The changelog in which what was unreleased belongs to a version.
 * @param {string} text
 * @param {string} version
 * @param {string} day such as 2026-01-31
 */
export function releasedChangelog(text, version, day) {
  const [before, after] = text.split(UNRELEASED)
  if (after === undefined) throw new Error('CHANGELOG.md has no section [Unreleased].')
  if (/^\s*(?:## |$)/.test(after)) throw new Error('CHANGELOG.md says nothing about this version.')
  return `${before}${UNRELEASED}\n## [${version}] - ${day}\n${after}`
}

/**
 * Commits and tags a version once everything that can fail has worked; until then, a failure leaves the checkout as it was.
 * @param {string} folder the checkout
 * @param {string | undefined} version
 * @param {(run: (program: string, ...values: string[]) => string) => void} build makes what is released, of the version's
 *   files; `run` starts a program in the checkout and returns what it prints.
 */
export function release(folder, version, build) {
  const run = (/** @type {string} */ program, /** @type {string[]} */ ...values) =>
    execFileSync(program, values, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: MOST_OUTPUT,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  if (version === undefined || !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    throw new Error('Usage: npm run release -- <version>, such as 1.2.3')
  if (run('git', 'status', '--porcelain') !== '')
    throw new Error('Commit or discard your changes first.')
  if (run('git', 'tag', '--list', `v${version}`) !== '')
    throw new Error(`v${version} exists already.`)
  const changelog = join(folder, 'CHANGELOG.md')
  const day = new Date().toISOString().slice(0, 10)
  const text = releasedChangelog(readFileSync(changelog, 'utf8'), version, day)
  const chart = join(folder, 'deploy/helm/nanoclaw/Chart.yaml')
  const manifests = ['package.json', 'package-lock.json'].map((name) => join(folder, name))
  const before = [changelog, chart, ...manifests.filter((file) => existsSync(file))].map(
    (file) => ({ file, content: readFileSync(file) }),
  )
  try {
    run('npm', 'version', version, '--no-git-tag-version')
    writeFileSync(changelog, text)
    // The image of the chart is that of the version.
    writeFileSync(
      chart,
      readFileSync(chart, 'utf8').replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
    )
    build(run)
    run('git', 'commit', '-qam', `chore(release): ${version}`)
  } catch (error) {
    for (const { file, content } of before) writeFileSync(file, content)
    throw error
  }
  run('git', 'tag', '-a', `v${version}`, '-m', `NanoClaw ${version}`)
}

function main() {
  const folder = resolve(import.meta.dirname, '..')
  const version = process.argv[2]
  release(folder, version, (run) => {
    console.log(run('npm', 'run', '-s', 'build') + run('npm', 'run', '-s', 'package'))
    copyFileSync(join(folder, 'install.sh'), join(folder, 'dist/release/install.sh'))
    writeFileSync(join(folder, 'dist/release/sbom.json'), run('npm', 'run', '-s', 'sbom'))
    if (spawnSync('docker', ['--version']).error === undefined)
      run('docker', 'build', '-t', `nanoclaw:${version}`, '.')
    else console.log('Docker is not installed: no image was built.')
  })
  console.log(`Released ${version} in dist/release. Publish it with: git push --follow-tags`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
