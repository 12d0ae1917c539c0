// Accounts: the sign-in mode, signing in and out, the user's profile.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  PasskeySignInBody,
  SecondFactorBody,
} from '../../../../server/protocol/accounts/second-factor.ts'
import type {
  AccountLink,
  AuthMode,
  ChangedProfile,
  ConfirmationState,
  LoginBody,
  PatchProfileBody,
  RegisterBody,
  ResetPasswordBody,
  Session,
  SignedIn,
  SignedOut,
  User,
} from '../../../../server/protocol/accounts/user.ts'
import { clearPrivateStorage } from '../browser/private-storage.ts'
import { forgetUnsavedTexts } from '../browser/unsaved-texts.ts'
import { request, requestDone, send } from '../http/api-client.ts'
import { useSession } from '../http/session.ts'

/** The ways to sign in that the server offers. Loaded once per page load. */
export const useAuthMode = () =>
  useQuery({
    queryKey: ['auth-mode'],
    queryFn: ({ signal }) => request<z.output<typeof AuthMode>>('/api/auth/mode', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: 5,
    meta: { quiet: true },
  })

const profileKey = ['profile'] as const

/** The signed-in user. Sends no request while `enabled` is false, as before the sign-in. */
export const useProfile = (enabled = true) =>
  useQuery({
    queryKey: profileKey,
    queryFn: ({ signal }) => request<User>('/api/auth/profile', { signal }),
    staleTime: 300_000,
    enabled,
    meta: { quiet: true },
  })

/** What a setup, invitation or reset link is for. */
export const useAccountLink = (link: string) =>
  useQuery({
    queryKey: ['account-link', link],
    queryFn: ({ signal }) =>
      request<AccountLink>('/api/auth/links', { method: 'POST', body: { link }, signal }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { quiet: true },
  })

/** Confirms an address with the link from an email. Needs no session. */
export const useConfirmAddress = () =>
  useMutation({
    mutationFn: (link: string) =>
      requestDone('/api/auth/confirmations/confirm', { method: 'POST', body: { link } }),
    meta: { quiet: true },
  })

const confirmationKey = ['confirmation'] as const

/** Whether the account's address is confirmed, and the request for a confirmation email. */
export function useConfirmation(isOffered: boolean) {
  const state = useQuery({
    queryKey: confirmationKey,
    queryFn: ({ signal }) =>
      request<z.output<typeof ConfirmationState>>('/api/auth/confirmations', { signal }),
    enabled: isOffered,
    meta: { quiet: true },
  })
  const ask = useMutation({
    mutationFn: () =>
      request<z.output<typeof ConfirmationState>>('/api/auth/confirmations', {
        method: 'POST',
        body: {},
      }),
  })
  return { state, request: ask }
}

/** Requests an email with a link for choosing a new password. */
export const useForgottenPassword = () =>
  useMutation({
    mutationFn: (email: string) =>
      requestDone('/api/auth/forgotten-password', { method: 'POST', body: { email } }),
    meta: { quiet: true },
  })

type SignInBody = {
  login: z.input<typeof LoginBody>
  register: z.input<typeof RegisterBody>
  reset: z.input<typeof ResetPasswordBody>
  'login/second-factor': z.input<typeof SecondFactorBody>
  'passkeys/sign-in': z.input<typeof PasskeySignInBody>
}

/**
 * Signs in. `kind` is the way: password, new account, new password, second factor or passkey.
 * Success clears the cache of an earlier session and begins a new one.
 */
export function useSignIn<Kind extends keyof SignInBody>(kind: Kind) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: SignInBody[Kind]) =>
      request<z.output<typeof SignedIn>>(`/api/auth/${kind}`, {
        method: 'POST',
        body: { ...body, cookie: true },
      }),
    onSuccess: (account) => {
      client.clear()
      client.setQueryData(profileKey, account.user)
      const { userId, signOut, signIn } = useSession.getState()
      // The link was opened in a browser where another account is signed in.
      if (userId !== null && userId !== account.user.id) signOut()
      signIn(account)
    },
    meta: { quiet: true },
  })
}

/** Ends the session and removes the user's data from this browser, even if the server is unreachable. */
export function useSignOut() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const response = await send('/api/auth/logout', { method: 'POST' })
      const body: z.output<typeof SignedOut> = await response.json()
      return body.data?.url
    },
    onSettled: (url) => {
      clearPrivateStorage()
      forgetUnsavedTexts()
      useSession.getState().signOut()
      client.clear()
      // Ends the session at the identity provider; otherwise the next sign-in there would need no password.
      if (url !== undefined) location.assign(url)
    },
    meta: { quiet: true },
  })
}

const sessionsKey = ['sessions'] as const

/** The user's sessions on all devices. */
export const useSessions = () =>
  useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) =>
      request<{ items: Session[] }>('/api/auth/sessions', { signal }).then(({ items }) => items),
    meta: { quiet: true },
  })

/** Ends one session, or all but this one. */
export function useEndSession() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string | 'others') =>
      requestDone(id === 'others' ? '/api/auth/sessions' : `/api/auth/sessions/${id}`, {
        method: 'DELETE',
      }),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsKey }),
  })
}

/** Changes the user's own account. A new password or address needs the current password. */
export function usePatchProfile() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof PatchProfileBody>) =>
      request<z.output<typeof ChangedProfile>>('/api/auth/profile', { method: 'PATCH', body }),
    onSuccess: ({ api_keys: _keys, ...user }) => {
      client.setQueryData<User>(profileKey, user)
      return client.invalidateQueries({ queryKey: confirmationKey })
    },
  })
}
