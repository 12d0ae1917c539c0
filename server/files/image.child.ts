// The child process that decodes one image: checks it, removes its metadata, scales it, and makes a thumbnail.
import { errorText } from '../errors.ts'
import { processImage, processResultImage } from './process-image.ts'

const [, , input = '', output = '', kind] = process.argv
try {
  const work = kind === 'result' ? processResultImage : processImage
  process.stdout.write(JSON.stringify({ ok: true, ...(await work(input, output)) }))
} catch (error) {
  process.stdout.write(JSON.stringify({ ok: false, internal: errorText(error).slice(0, 1000) }))
}
