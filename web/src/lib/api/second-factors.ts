// Second factors of the user's account, and signing in with them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  NewTotp,
  RecoveryCodes,
  SecondFactors,
} from '../../../../server/protocol/accounts/second-factor.ts'
import { request, requestDone } from '../http/api-client.ts'

const key = ['second-factors'] as const

/** The second factors of the account, without their secrets. */
export const useSecondFactors = () =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => request<SecondFactors>('/api/auth/second-factors', { signal }),
    meta: { quiet: true },
  })

/** `PasskeyOptions` with the types of the browser library; its server half creates them. */
type PasskeyRequest<Call extends (options: never) => unknown> = {
  options: Parameters<Call>[0] extends { optionsJSON: infer Json } ? Json : never
  challenge: string
}

/**
 * Asks the browser for a passkey. `challenge` belongs to a sign-in that needs a second factor. The library is loaded on
 * demand, because few people need it. Throws `ApiError`, or the browser's error when the user cancels.
 */
export async function askForPasskey(challenge?: string) {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const passkeyRequest = await request<PasskeyRequest<typeof startAuthentication>>(
    '/api/auth/passkeys/options',
    {
      method: 'POST',
      body: { challenge },
    },
  )
  return {
    challenge: passkeyRequest.challenge,
    response: await startAuthentication({ optionsJSON: passkeyRequest.options }),
  }
}

async function createPasskey({ name, password }: { name: string; password: string }) {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const passkeyRequest = await request<PasskeyRequest<typeof startRegistration>>(
    '/api/auth/passkeys',
    {
      method: 'POST',
      body: { current_password: password },
    },
  )
  const response = await startRegistration({ optionsJSON: passkeyRequest.options })
  return request<z.output<typeof RecoveryCodes>>('/api/auth/passkeys/confirm', {
    method: 'POST',
    body: { challenge: passkeyRequest.challenge, name, response },
  })
}

/** The mutations of second factors. Each one that changes them refetches the list. */
export function useSecondFactorActions() {
  const client = useQueryClient()
  const settings = {
    onSettled: () => client.invalidateQueries({ queryKey: key }),
    meta: { quiet: true },
  }
  const post = <T>(path: string, body: object) =>
    request<T>(`/api/auth/${path}`, { method: 'POST', body })
  return {
    beginTotp: useMutation({
      mutationFn: (password: string) =>
        post<z.output<typeof NewTotp>>('totp', { current_password: password }),
      meta: { quiet: true },
    }),
    confirmTotp: useMutation({
      mutationFn: (code: string) => post<z.output<typeof RecoveryCodes>>('totp/confirm', { code }),
      ...settings,
    }),
    createCodes: useMutation({
      mutationFn: (password: string) =>
        post<z.output<typeof RecoveryCodes>>('recovery-codes', { current_password: password }),
      ...settings,
    }),
    addPasskey: useMutation({ mutationFn: createPasskey, ...settings }),
    remove: useMutation({
      mutationFn: ({ id, password }: { id: string | 'totp'; password: string }) =>
        requestDone(
          id === 'totp'
            ? '/api/auth/totp/remove'
            : `/api/auth/passkeys/${encodeURIComponent(id)}/remove`,
          { method: 'POST', body: { current_password: password } },
        ),
      ...settings,
    }),
  }
}
