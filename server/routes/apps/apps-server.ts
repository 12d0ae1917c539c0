// The second HTTP server, on which the files of apps are: an origin of their own.
import { type AppOptions, createApp } from '../../http/app.ts'
import type { Services } from '../../services.ts'
import { registerAppFiles } from './app-files.ts'

/** The server of the files of apps, on a port of its own. */
export interface AppsServer {
  /** Opens the port; apps have an address from then on. */
  listen(at: { host: string; port: number; backlog?: number }): Promise<void>
  close(): Promise<void>
}

/** Does not listen yet. */
export function createAppsServer(
  options: Pick<AppOptions, 'logger' | 'connectionsPerAddress' | 'trustedProxies'>,
  services: Pick<Services, 'appsOrigin'> & Parameters<typeof registerAppFiles>[1],
): AppsServer {
  const app = createApp({ ...options, bodyLimit: 1, refusesWhileClosing: false })
  registerAppFiles(app, services)
  return {
    async listen(at) {
      await app.listen(at)
      const [address] = app.addresses()
      services.appsOrigin.port = typeof address === 'object' ? address.port : null
    },
    close: () => app.close(),
  }
}
