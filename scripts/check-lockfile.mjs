// Fails if the lockfile lacks a platform-specific package that one of its packages declares, which would break other systems,
// or holds a package with an install script that `allowScripts` of package.json neither allows nor refuses by name.
import { readFileSync } from 'node:fs'

const { packages } = JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8'))

const isLocked = (from, name) => {
  for (let base = from; ; ) {
    if (packages[`${base ? `${base}/` : ''}node_modules/${name}`]) return true
    if (base === '') return false
    const at = base.lastIndexOf('/node_modules/')
    base = at < 0 ? '' : base.slice(0, at)
  }
}

let missing = 0
for (const [path, entry] of Object.entries(packages))
  for (const name of Object.keys(entry.optionalDependencies ?? {}))
    if (!isLocked(path, name)) {
      missing += 1
      console.error(
        `${path || 'package.json'} ${entry.version ?? ''}: ${name} is not in the lockfile`,
      )
    }

const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const [path, { hasInstallScript, version, name: realName }] of Object.entries(packages)) {
  // An alias has a different name, but is allowed by the name of the package.
  const name = realName ?? path.split('node_modules/').at(-1)
  if (hasInstallScript !== true || Object.hasOwn(allowScripts, name)) continue
  missing += 1
  console.error(`${name} ${version} has an install script. Allow or deny it in package.json.`)
}
if (missing > 0) process.exit(1)
console.log(`The lockfile is complete (${Object.keys(packages).length} packages).`)
