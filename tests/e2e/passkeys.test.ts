// Second factors in the page: an authenticator app and a passkey, with Chromium's virtual authenticator.
import { Secret, TOTP } from 'otpauth'
import { beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('second factors', (visitor) => {
  const servers = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await servers.start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
    await register(server, 'ada')
  })

  test('an authenticator app and a passkey are added, each completes a sign-in, and the passkey alone is enough', async () => {
    // Passkeys work on localhost, and not on IP addresses.
    const origin = `http://localhost:${new URL(server.url).port}`
    const page = await visitor.open(origin, { ownContext: true })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const password = page.getByLabel('Password', { exact: true })
    const signIn = async () => {
      await page.getByLabel('Username').fill('ada')
      await password.fill('a good password')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    const signOut = async () => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await password.waitFor()
    }
    await signIn()
    await composer(page).waitFor()
    await page.goto(`${origin}/settings/account`)

    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Cancel' }) })
    const setUp = page.getByRole('button', { name: 'Set up' })
    await setUp.click()
    await form.getByLabel('Current password').and(page.locator(':focus')).waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()
    await setUp.and(page.locator(':focus')).waitFor()
    await setUp.click()
    await form.getByLabel('Current password').fill('a good password')
    await form.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    await form.getByLabel('Code', { exact: true }).and(page.locator(':focus')).waitFor()
    const secret = Secret.fromBase32(await form.getByLabel('Or enter this key').inputValue())
    // The code for signing in belongs to the next time step: both stay acceptable if a new step starts in between.
    const code = (steps: 0 | 1) =>
      new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })
    await form.getByLabel('Code', { exact: true }).fill(code(0))
    await form.getByRole('button', { name: 'Continue' }).click()
    await expect.poll(() => page.getByTestId('recovery-codes').locator('li').count()).toBe(10)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'I’ve stored them' }).click()

    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await form.getByLabel('Current password').fill('a good password')
    await form.getByLabel('Name').fill('Laptop')
    await form.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Laptop').waitFor()
    await signOut()

    await signIn()
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Code', { exact: true }).fill(code(1))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Laptop').waitFor()
    await signOut()

    await signIn()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('Laptop').waitFor()
    await signOut()

    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('Last used').first().waitFor()
    await leave(page)
  })
})
