// The scriptable model server as a process of its own: `tsx upstream-main.ts [port]`; speaks JSON lines on stdout.
import { startUpstream } from './upstream.ts'
import { benchProgram } from './upstream-programs.ts'

const upstream = await startUpstream({ port: Number(process.argv[2] ?? 0) })
upstream.program(benchProgram)
process.stdout.write(`${JSON.stringify({ url: upstream.url })}\n`)
process.on('SIGTERM', () => process.exit(0))
// The parent's end of the pipe is closed when it goes, whatever the way: then this process goes too.
process.stdin.on('end', () => process.exit(0)).resume()
