// Second factors on the wire: codes of an authenticator app, recovery codes, passkeys.
import { z } from 'zod'
import { optional, Timestamp } from '../envelope.ts'

/** How a browser reaches an authenticator, as WebAuthn names it (`AuthenticatorTransport`). */
export const PasskeyTransport = z.enum([
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
])
export type PasskeyTransport = z.infer<typeof PasskeyTransport>

/** A passkey of an account, without its key. */
export const Passkey = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'Passkey' })
export type Passkey = z.infer<typeof Passkey>

/** What an account can use besides its password to prove its identity. */
export const SecondFactors = z
  .object({
    /** Whether an authenticator app is set up. */
    totp: z.boolean(),
    passkeys: z.array(Passkey),
    /** Number of recovery codes that still work. */
    recovery_codes: z.int(),
    /** Whether passkeys work at this address: over HTTPS with a host name, or on localhost. */
    passkeys_available: z.boolean(),
  })
  .meta({ id: 'SecondFactors' })
export type SecondFactors = z.infer<typeof SecondFactors>

/** The password. Required for changes that would help a stolen session to persist. */
export const PasswordBody = z
  .object({ current_password: z.string().min(1).max(200) })
  .meta({ id: 'CurrentPassword' })

/** A new authenticator app, which counts after its first code. */
export const NewTotp = z
  .object({
    /** Base32, for typing. */
    secret: z.string(),
    /** `otpauth://…`, for the QR code. */
    uri: z.string(),
  })
  .meta({ id: 'NewTotp' })

const Code = z.string().trim().min(6).max(40)
export const TotpCodeBody = z.object({ code: Code }).meta({ id: 'TotpCode' })

/** The only responses that contain recovery codes. Null if the user already had some, which still work. */
export const RecoveryCodes = z
  .object({ recovery_codes: z.array(z.string()).nullable() })
  .meta({ id: 'RecoveryCodes' })

/** A new passkey, with the recovery codes that it brings if it is the first second factor. */
export const AddedPasskey = RecoveryCodes.extend({ passkey: Passkey }).meta({ id: 'AddedPasskey' })

/** Which second factors can complete a sign-in: the `details` of the refusal `second_factor_required`. */
export const SecondFactorDetails = z.object({
  /** Proves for five minutes that the password was correct. */
  challenge: z.string(),
  methods: z.array(z.enum(['totp', 'passkey', 'recovery_code'])),
})
export type SecondFactorDetails = z.infer<typeof SecondFactorDetails>

const Challenge = z.string().min(1).max(4000)
const Bytes = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\w-]*$/, { error: 'base64url' })
const CredentialId = Bytes(1400)

const credential = <Shape extends z.ZodRawShape>(response: Shape) =>
  z.object({
    id: CredentialId,
    rawId: CredentialId,
    type: z.literal('public-key'),
    response: z.object(response),
  })

/** What the browser returns for a sign-in with a passkey; the fields as WebAuthn names them. */
export const PasskeyAssertion = credential({
  clientDataJSON: Bytes(8000),
  authenticatorData: Bytes(8000),
  signature: Bytes(8000),
  userHandle: optional(Bytes(200)),
}).meta({ id: 'PasskeyAssertion' })
export type PasskeyAssertion = z.output<typeof PasskeyAssertion>

/** What the browser returns for a new passkey: the JSON form of WebAuthn's `PublicKeyCredential`. */
export const PasskeyAttestation = credential({
  clientDataJSON: Bytes(8000),
  attestationObject: Bytes(12_000),
  transports: z.array(z.string().max(40)).max(10).optional(),
}).meta({ id: 'PasskeyAttestation' })
export type PasskeyAttestation = z.output<typeof PasskeyAttestation>

/** Options for the browser, in the standard's format, and what to send back with its response. */
export const PasskeyOptions = z
  .object({
    options: z.record(z.string(), z.unknown()),
    challenge: z.string(),
  })
  .meta({ id: 'PasskeyOptions' })

export const SecondFactorBody = z
  .object({
    challenge: Challenge,
    /** A code from the authenticator app, or a recovery code. */
    code: optional(Code),
    passkey: optional(z.object({ challenge: Challenge, response: PasskeyAssertion })),
    cookie: optional(z.boolean()),
  })
  .meta({ id: 'SecondFactor' })

export const PasskeySignInBody = z
  .object({ challenge: Challenge, response: PasskeyAssertion, cookie: optional(z.boolean()) })
  .meta({ id: 'PasskeySignIn' })

export const NewPasskeyBody = z
  .object({
    challenge: Challenge,
    name: z.string().trim().min(1).max(60),
    response: PasskeyAttestation,
  })
  .meta({ id: 'NewPasskey' })

/** The account, for a second factor. Without it, the browser offers all of its passkeys for this server. */
export const PasskeyOptionsBody = z
  .object({ challenge: optional(Challenge) })
  .meta({ id: 'PasskeyOptionsRequest' })
