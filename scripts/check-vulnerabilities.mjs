// Checks installed packages for known vulnerabilities: `npm run vulnerabilities`. Exits with 1 for severity
// high or critical, and with 2 if the registry does not offer the check, unless `--if-available` is given.
import { spawnSync } from 'node:child_process'

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
})
if (error !== undefined) throw error
const { metadata, vulnerabilities = {}, error: refusal, message } = JSON.parse(stdout)
if (metadata === undefined) {
  const isOptional = process.argv.includes('--if-available')
  const cause = message ?? refusal?.summary ?? 'no report'
  console.log(`Could not query the registry for vulnerabilities: ${cause}`)
  process.exit(isOptional ? 0 : 2)
}
const severe = Object.values(vulnerabilities).filter(({ severity }) =>
  ['high', 'critical'].includes(severity),
)
for (const { name, severity, range } of severe) console.log(`${severity}: ${name} ${range}`)
console.log(
  `${metadata.dependencies.prod} packages, ${severe.length} vulnerabilities of severity high or critical`,
)
process.exit(severe.length > 0 ? 1 : 0)
