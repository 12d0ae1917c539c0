// The names of model providers in the OpenTelemetry conventions.
import { serviceAtHost } from '../llm/services.ts'

/**
 * The name of a provider; its host name if the conventions have none. @param url the address of the API; undefined:
 * unknown.
 */
export function providerName(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'unknown'
  return serviceAtHost(url)?.telemetry ?? new URL(url).hostname
}
