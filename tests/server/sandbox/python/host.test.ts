// The `host` engine: the same guarantees with the host's own Python; unavailable without bubblewrap.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseHostLauncher } from '../../../../server/sandbox/python/isolation.ts'
import { openPython, type TestSandbox } from '../../../support/sandbox/python.ts'

test('without bubblewrap the host engine refuses to work', async () => {
  const { state, launcher } = await chooseHostLauncher({
    available: false,
    reason: 'bubblewrap is not installed',
  })
  expect(launcher).toBeNull()
  expect(state).toMatchObject({ engine: 'host', isolation: 'none', available: false })
  expect(state.reason).toContain('bubblewrap is not installed')
})

describe('with bubblewrap', async () => {
  const trial = await openPython({ engine: 'host' })
  await trial.close()
  // Skipped only if a program is missing: a broken host engine must fail here.
  const here = describe.skipIf(/bubblewrap|there is no python3/.test(trial.state.reason ?? ''))
  let python: TestSandbox
  beforeAll(async () => {
    python = await openPython({ engine: 'host' })
  })
  afterAll(() => python.close())

  here('a program of the host engine', () => {
    test('a program runs isolated, as an unprivileged user, and leaves nothing behind', async () => {
      expect(python.state).toMatchObject({ engine: 'host', isolation: 'kernel', reason: null })
      const probe = `import os, socket
open('/output/left', 'w').write('x')
[os.getuid() != 0, os.path.exists('/etc/passwd'), os.listdir('/home') if os.path.exists('/home') else [], [name for _, name in socket.if_nameindex()], 'PATH' in os.environ]`
      expect(await python.program(probe, { strictness: 'lenient' })).toMatchObject({
        status: 'completed',
        result: [true, false, [], ['lo'], false],
      })
      const next = await python.program('import os\nos.listdir("/output")', {
        strictness: 'lenient',
      })
      expect(next.result).toEqual([])
    })

    test('a program returns result, output, files and traceback as in the other engine', async () => {
      const outcome = await python.program(
        'print(open("/workspace/in.txt").read())\nopen("/output/out.txt", "w").write("made")\n1 / 0',
        { files: [{ path: 'in.txt', content: Buffer.from('given') }] },
      )
      expect(outcome).toMatchObject({ status: 'raised', stdout: 'given\n' })
      expect(outcome.error).toContain('File "program.py", line 3')
      expect(outcome.error).not.toContain('nanoclaw')
      expect(outcome.files.map(({ path, content }) => [path, String(content)])).toEqual([
        ['out.txt', 'made'],
      ])
    })

    test('the output of programs that a program starts is captured', async () => {
      const outcome = await python.program(
        'import subprocess\nsubprocess.run(["/bin/echo", "from below"])\nNone',
        { strictness: 'lenient' },
      )
      expect(outcome).toMatchObject({ status: 'completed', stdout: 'from below\n' })
    })

    test('a program that signals its own group reaches only what it has started', async () => {
      const outcome = await python.program(
        'import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(0, signal.SIGTERM)\nprint("goes on")',
        { strictness: 'lenient' },
      )
      expect(outcome).toMatchObject({ status: 'completed', stdout: 'goes on\n' })
    })

    test('the strictness levels apply', async () => {
      expect(await python.program('import os')).toMatchObject({ status: 'refused' })
    })

    test('limits on memory, time, processes and files hold', async () => {
      const programs: [string, RegExp][] = [
        ['x = bytearray(800 * 1024 * 1024)', /MemoryError/],
        ['while True:\n    pass', /5 s/],
        [
          'with open("/output/x", "wb") as f:\n    while True:\n        f.write(bytes(10**6))',
          /File too large|No space left/,
        ],
      ]
      const outcomes = await Promise.all(
        programs.map(([code]) => python.program(code, { strictness: 'strict' })),
      )
      for (const [index, [, says]] of programs.entries())
        expect(outcomes[index]?.error).toMatch(says)
    })

    test('a program cannot start processes without end, and those it started end with it', async () => {
      // Only safe here, after the tests above have shown that the limits are enforced.
      const outcome = await python.program(
        `import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError as error:
    print(type(error).__name__)
made < 64`,
        { strictness: 'lenient' },
      )
      expect(outcome).toMatchObject({ status: 'completed', result: true })
      expect(outcome.stdout).toContain('BlockingIOError')
    })
  })
})
