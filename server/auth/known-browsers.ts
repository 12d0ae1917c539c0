// Browsers in which somebody has signed in before: guesses of others behind the same address do not keep them out.
import { randomBytes } from 'node:crypto'
import type { UserId } from '../protocol/ids.ts'
import { networkOf } from './network.ts'
import { createSigner } from './signed-text.ts'

/**
 * `<user>.<token version>.<browser>.<signature>`, joined with `~`, newest first. The idea is that of the device cookies that OWASP describes
 * in "Slow Down Online Guessing Attacks with Device Cookies": whoever holds one is counted alone, and gets no more attempts
 * than anybody else. An entry is as old as the account's sessions: what ends these, such as a new password, ends it, too.
 */
const ENTRY = /^([\w-]{1,64})\.(\d{1,15})\.([\w-]{16})\.([\w-]{43})$/
const SEPARATOR = '~'
/** Maximum number of accounts that one browser remembers; the least recently used is dropped first. */
const MAX_ACCOUNTS = 5

/** The version changes when the sessions of an account end. */
type Account = { id: UserId; tokenVersion: number }

/** The accounts that have been used in the browser of a request. */
export interface KnownBrowser {
  /** Where the request comes from, for limits: this browser if anybody has signed in with it, otherwise its network. */
  readonly source: string
  /** The same for attempts to sign in to one account: this browser only if that account was used in it. */
  sourceFor(account: Account | undefined): string
}

/** Recognizes browsers by what they keep. */
export interface KnownBrowsers {
  /** @param kept what the browser sent; undefined for one that keeps nothing. @param address the client's address. */
  read(kept: string | undefined, address: string): KnownBrowser
  /** What the browser keeps after this user has signed in. */
  remember(kept: string | undefined, account: Account): string
}

/** @param secrets the first one signs; the others are still accepted. */
export function createKnownBrowsers(secrets: () => readonly string[]): KnownBrowsers {
  const signer = createSigner('nanoclaw known browser', secrets)

  const entriesOf = (
    kept: string | undefined,
  ): { userId: string; version: number; browser: string }[] =>
    (kept ?? '')
      .split(SEPARATOR, MAX_ACCOUNTS)
      .map((entry) => ENTRY.exec(entry))
      .flatMap((found) => {
        const [, userId = '', version = '', browser = '', signature = ''] = found ?? []
        return signer.isSigned(`${userId}.${version}.${browser}`, signature)
          ? [{ userId, version: Number(version), browser }]
          : []
      })

  return {
    read(kept, address) {
      const entries = entriesOf(kept)
      const sourceOf = (entry: { browser: string } | undefined): string =>
        entry === undefined ? networkOf(address) : `browser ${entry.browser}`
      return {
        source: sourceOf(entries[0]),
        sourceFor: (account) =>
          sourceOf(
            entries.find(
              ({ userId, version }) => userId === account?.id && version === account.tokenVersion,
            ),
          ),
      }
    },

    remember(kept, { id: userId, tokenVersion: version }) {
      const entries = entriesOf(kept)
      const known = entries.find((entry) => entry.userId === userId)
      const browser = known?.browser ?? randomBytes(12).toString('base64url')
      return [{ userId, version, browser }, ...entries.filter((entry) => entry.userId !== userId)]
        .slice(0, MAX_ACCOUNTS)
        .map((entry) => `${entry.userId}.${entry.version}.${entry.browser}`)
        .map((text) => `${text}.${signer.sign(text)}`)
        .join(SEPARATOR)
    },
  }
}
