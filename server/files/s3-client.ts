// Requests to an S3-compatible service: the client, lists of objects, and what its failures mean.
import { Readable } from 'node:stream'
import { S3mini } from 's3mini'
import { z } from 'zod'
import { errorText } from '../errors.ts'
import { CERTIFICATE_FAULT_TEXTS, certificateFault } from '../lib/certificate-faults.ts'

/** An S3 bucket. */
export interface S3Settings {
  /** The URL of the service, without the bucket. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The prefix of all object names. */
  prefix: string
}

const REQUEST_TIMEOUT_MS = 120_000
const LISTED_AT_ONCE = 1_000
/** Until the service begins to answer a request without a body. */
const ANSWER_TIMEOUT_MS = 15_000

/**
 * A body that is a stream needs to say that nothing is read before it is sent. The length of any other is left to `fetch`, which
 * adds it to a given one: dispatchers of the package `undici`, which is also used behind a proxy, refuse two.
 */
const streamingFetch: typeof fetch = async (input, init) => {
  if (init?.method !== 'GET' && init?.method !== 'HEAD') {
    const headers = new Headers(init?.headers)
    if (!(init?.body instanceof ReadableStream)) headers.delete('content-length')
    return await fetch(input, { ...init, headers, duplex: 'half' })
  }
  const silence = new AbortController()
  const timer = setTimeout(
    () => silence.abort(new Error('timeout: the service did not answer')),
    ANSWER_TIMEOUT_MS,
  )
  const signals = init.signal == null ? [silence.signal] : [silence.signal, init.signal]
  try {
    return await fetch(input, { ...init, signal: AbortSignal.any(signals) })
  } finally {
    clearTimeout(timer)
  }
}

/** A client of one bucket. Its methods reject with what the service answered. */
export const createS3Client = ({
  endpoint,
  bucket,
  region,
  accessKeyId,
  secretAccessKey,
}: S3Settings): S3mini =>
  new S3mini({
    endpoint: `${endpoint.replace(/\/+$/, '')}/${bucket}`,
    region,
    accessKeyId,
    secretAccessKey,
    requestAbortTimeout: REQUEST_TIMEOUT_MS,
    fetch: streamingFetch,
  })

/** Node's and the DOM's types of a web stream differ only in name. */
const WebStream = z.instanceof(ReadableStream)

/** The body of a request. */
export const webStreamOf = (content: Readable): ReadableStream =>
  WebStream.parse(Readable.toWeb(content))

/** An object of a bucket. */
export interface BucketObject {
  /** Without the prefix that was listed. */
  name: string
  size: number
  storedAt: Date
}

/** All objects whose names begin with `prefix`. */
export async function* objectsBelow(client: S3mini, prefix: string): AsyncGenerator<BucketObject> {
  let token: string | undefined
  do {
    const page = await client.listObjectsPaged('/', prefix, LISTED_AT_ONCE, token)
    for (const { Key, Size, LastModified } of page?.objects ?? [])
      yield { name: Key.slice(prefix.length), size: Size, storedAt: LastModified }
    token = page?.nextContinuationToken
  } while (token !== undefined && token !== '')
}

/** Reads a little. Returns why that does not work, for the operator; null if it does. */
export async function checkBucket(client: S3mini, prefix: string): Promise<string | null> {
  try {
    // Each finds what the other one does not: a wrong key, a bucket that does not exist.
    await client.objectExists(`${prefix}${'0'.repeat(64)}`)
    const listed = await client.listObjectsPaged('/', prefix, LISTED_AT_ONCE)
    return listed == null ? 'there is no such bucket' : null
  } catch (error) {
    return s3Cause(error)
  }
}

/** What the service answered, or that it did not, for the operator. Never contains a key. */
export function s3Cause(error: unknown): string {
  const certificate = certificateFault(error)
  if (certificate !== null) return `its certificate ${CERTIFICATE_FAULT_TEXTS[certificate]}`
  const text = causesOf(error).map(String).join(' ')
  if (/NoSuchBucket/.test(text)) return 'there is no such bucket'
  if (/InvalidAccessKeyId|SignatureDoesNotMatch|\b40[13]\b|AccessDenied/.test(text))
    return 'it does not accept the key, or the key has no access to the bucket'
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'its host name could not be found'
  if (/ECONNREFUSED/.test(text)) return 'it refused the connection'
  if (/ETIMEDOUT|TIMEOUT|timeout/.test(text)) return 'it did not respond in time'
  return `it does not respond as expected (${errorText(error).slice(0, 200)})`
}

const MAX_CAUSES = 5

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause != null && causes.length < MAX_CAUSES; ) {
    causes.push(cause)
    if (cause instanceof Error && 'code' in cause) causes.push(cause.code)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes
}
