// Two accounts, one after the other in the same tab: what one has written and not sent is only there for that account.
import { expect, test } from 'vitest'
import { composer, describeInBrowser, leave } from '../support/page/page.ts'
import { TEST_JWT_SECRET, useServers } from '../support/server/server.ts'

describeInBrowser('two accounts in one tab', (visitor) => {
  const servers = useServers()

  test('the next account finds nothing that the former one wrote, whether that one signed out or its session was ended', async () => {
    const server = await servers.start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
    const password = 'correct horse'
    const tokens = new Map<string, string>()
    for (const username of ['eva', 'finn']) {
      const { json } = await server.call('POST', '/api/auth/register', {
        body: { username, password },
      })
      tokens.set(username, json.data.token)
    }
    const page = await visitor.open(server.url)
    const signIn = async (username: string): Promise<void> => {
      await page.getByLabel('Username').fill(username)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Welcome back' }).waitFor({ state: 'detached' })
    }
    /** Follows a link, so that what is in memory stays. */
    const goTo = (link: string) => page.getByRole('link', { name: link, exact: true }).click()
    const write = async (): Promise<void> => {
      await composer(page).fill('a secret plan')
      await goTo('Memory')
      await page.getByLabel('Full text').fill('a secret fact')
    }
    const expectText = async (message: string, fact: string): Promise<void> => {
      await goTo('Memory')
      await expect.poll(() => page.getByLabel('Full text').inputValue()).toBe(fact)
      await goTo('New conversation')
      await expect.poll(() => composer(page).inputValue()).toBe(message)
    }

    await signIn('eva')
    await write()
    await page.locator('a[href="/settings"]').click()
    await goTo('Account')
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await signIn('finn')
    await expectText('', '')

    // Ends every session of the account without a sign-out in this tab.
    const endSessions = async (username: string): Promise<void> => {
      const ended = await server.call('DELETE', '/api/auth/sessions', {
        headers: { authorization: `Bearer ${tokens.get(username)}` },
      })
      expect(ended.status).toBe(200)
      await goTo('Projects')
      await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    }
    await write()
    await endSessions('finn')
    await signIn('finn')
    await expectText('a secret plan', 'a secret fact')
    await write()
    await endSessions('finn')
    await signIn('eva')
    await expectText('', '')
    await leave(page)
  })
})
