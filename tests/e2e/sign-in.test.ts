// Several users: registering, signing out and in, wrong passwords, a token that is no longer valid.
import { beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, expectAccessible, leave } from '../support/page.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server.ts'

describeInBrowser('signing in', (visitor) => {
  const servers = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await servers.start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
  })

  test('a newcomer registers, signs out, and signs in again', async () => {
    const page = await visitor.open(server.url)
    await page.getByRole('heading', { name: 'Create the first account' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create account' }).click()
    await composer(page).waitFor()
    await page.reload()
    await composer(page).waitFor()

    await page.goto(`${server.url}/settings/account`)
    await page.getByText('ada').first().waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()

    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('wrong horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await leave(page)
  })

  test('a token that ended leads back to the sign-in page, nothing else', async () => {
    const page = await visitor.open(server.url)
    await page.evaluate("localStorage.setItem('nanoclaw.token', 'not-a-token')")
    await page.reload()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await expect
      .poll(() => page.evaluate<string | null>("localStorage.getItem('nanoclaw.token')"))
      .toBeNull()
    await leave(page)
  })
})
