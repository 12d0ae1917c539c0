// Descriptions for the API reference: codes of an authenticator app, recovery codes, passkeys.
import type { z } from 'zod'
import type {
  AddedPasskey,
  NewPasskeyBody,
  NewTotp,
  Passkey,
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyOptions,
  PasskeySignInBody,
  PasswordBody,
  RecoveryCodes,
  SecondFactorBody,
  SecondFactors,
  TotpCodeBody,
} from '../../protocol/accounts/second-factor.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { COOKIE, CREATED } from './shared.ts'

const passkey = {
  id: 'Identifies the passkey.',
  name: 'The name that its owner gave it.',
  created_at: CREATED,
  last_used_at: 'When somebody last signed in with it. Null: never.',
} satisfies FieldsOf<Passkey>

const CHALLENGE = 'The `challenge` from the response that contained the options.'
const RECOVERY_CODES =
  'Codes that each replace the second factor once. No later response contains them. Null: codes that were created earlier still work.'
const credential = {
  id: 'The id of the passkey, base64url.',
  rawId: 'The same as `id`.',
  type: 'Always `public-key`.',
}

/** By the id of a schema in the reference. */
export const SECOND_FACTOR_DESCRIPTIONS = {
  Passkey: passkey,
  SecondFactors: {
    totp: 'Whether an authenticator app is set up.',
    passkeys: 'The passkeys of the account.',
    recovery_codes: 'The number of recovery codes that still work.',
    passkeys_available:
      'Whether passkeys work at the address of this request: over HTTPS with a host name, or on localhost.',
  } satisfies FieldsOf<SecondFactors>,
  CurrentPassword: {
    current_password: 'The password of the account.',
  } satisfies FieldsOf<z.infer<typeof PasswordBody>>,
  NewTotp: {
    secret: 'The secret in Base32, to type into an authenticator app.',
    uri: 'The secret as an `otpauth://` URI, to show as a QR code.',
  } satisfies FieldsOf<z.infer<typeof NewTotp>>,
  TotpCode: {
    code: 'The code that the authenticator app shows.',
  } satisfies FieldsOf<z.infer<typeof TotpCodeBody>>,
  RecoveryCodes: { recovery_codes: RECOVERY_CODES } satisfies FieldsOf<
    z.infer<typeof RecoveryCodes>
  >,
  AddedPasskey: {
    recovery_codes: RECOVERY_CODES,
    passkey: 'The new passkey.',
  } satisfies FieldsOf<z.infer<typeof AddedPasskey>>,
  PasskeyOptions: {
    options:
      'The options for `navigator.credentials.get` or `.create` of the browser, in the JSON form of WebAuthn.',
    challenge: 'Send it back with the response of the browser.',
  } satisfies FieldsOf<z.infer<typeof PasskeyOptions>>,
  PasskeyOptionsRequest: {
    challenge:
      'The `challenge` of a sign-in that asked for a second factor. Default: none: the browser offers all of its passkeys for this server.',
  },
  PasskeyAssertion: {
    ...credential,
    response: within('What the authenticator signed, as WebAuthn defines it, base64url.', {
      clientDataJSON: 'The data of the browser that were signed.',
      authenticatorData: 'The data of the authenticator that were signed.',
      signature: 'The signature.',
      userHandle: 'The account that the passkey belongs to.',
    }),
  } satisfies FieldsOf<PasskeyAssertion>,
  PasskeyAttestation: {
    ...credential,
    response: within('The new key, as WebAuthn defines it, base64url.', {
      clientDataJSON: 'The data of the browser.',
      attestationObject: 'The data of the authenticator, with the public key.',
      transports: 'How the browser reaches the authenticator.',
    }),
  } satisfies FieldsOf<PasskeyAttestation>,
  SecondFactor: {
    challenge: 'The `challenge` in the `details` of the refusal `second_factor_required`.',
    code: 'A code of the authenticator app, or a recovery code. Required without `passkey`.',
    passkey: within('A passkey. Required without `code`.', {
      challenge: CHALLENGE,
      response: 'The response of the browser.',
    }),
    cookie: COOKIE,
  } satisfies FieldsOf<z.infer<typeof SecondFactorBody>>,
  PasskeySignIn: {
    challenge: CHALLENGE,
    response: 'The response of the browser.',
    cookie: COOKIE,
  } satisfies FieldsOf<z.infer<typeof PasskeySignInBody>>,
  NewPasskey: {
    challenge: CHALLENGE,
    name: 'A name by which you recognize the passkey.',
    response: 'The response of the browser.',
  } satisfies FieldsOf<z.infer<typeof NewPasskeyBody>>,
}
