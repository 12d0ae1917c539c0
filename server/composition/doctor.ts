// The checks of the doctor, as configured. Its modules are loaded only when it is asked.
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import type { CheckedMcpServer } from '../doctor/check-mcp.ts'
import type { Finding } from '../doctor/finding.ts'
import { type EnvironmentKeys, withEnvironmentKey } from '../llm/environment-keys.ts'
import {
  databaseSettings,
  doctorSettings,
  installationSettings,
  registrationReach,
} from './settings.ts'

/** Checks everything that a start needs, and changes nothing. */
export async function runDoctor(
  config: Config,
  {
    webRoot,
    secretKeys,
    environmentKeys,
    mcpServers,
  }: {
    webRoot: string
    secretKeys: SecretKeySources
    environmentKeys: EnvironmentKeys
    mcpServers(): Promise<CheckedMcpServer[]>
  },
): Promise<Finding[]> {
  const { runChecks } = await import('../doctor/doctor.ts')
  const { filesLeftElsewhere, installationPlaces } = await import('../owner/places.ts')
  const { inspectSecrets } = await import('../administration/sealed-secrets.ts')
  const { inspectOpenRegistration } = await import('../access/open-registration.ts')
  const installation = installationSettings(config)
  return await runChecks({
    ...doctorSettings(config, webRoot),
    models: config.models.map((model) => withEnvironmentKey(model, environmentKeys)),
    places: installationPlaces(installation),
    filesFault: () => filesLeftElsewhere(installation),
    inspectSecrets: () => inspectSecrets(installation, secretKeys),
    inspectRegistration: () =>
      inspectOpenRegistration(
        registrationReach(config),
        config.registration,
        databaseSettings(config),
      ),
    mcpServers,
  })
}
