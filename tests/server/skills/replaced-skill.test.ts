// What is remembered of the skills of users: only under the hash of what was really read.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { NO_PREFERENCES } from '../../../server/protocol/accounts/preferences.ts'
import { SKILL_FILE, skillHash } from '../../../server/skills/found-skill.ts'
import { createSkills } from '../../../server/skills/skills.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const NAME = 'write-well'

/** The skill with these instructions, as an upload stores it. */
function skillSaying(body: string) {
  const content = Buffer.from(`---\nname: ${NAME}\ndescription: How to write.\n---\n${body}\n`)
  const file = {
    path: SKILL_FILE,
    sha256: createHash('sha256').update(content).digest('hex'),
    content,
  }
  return { sha256: skillHash([file]), size: content.length, files: [file] }
}

describeOnEachDatabase('a skill of a user', (open) => {
  test('that is replaced after its hash was read is not taken for its former version later', async () => {
    const store = createStore(await open())
    const { id: userId } = await store.users.ensureDefault('default')
    const put = ({ sha256, size, files }: ReturnType<typeof skillSaying>) =>
      store.userSkills.put({ userId, name: NAME, sha256, size, updatedAt: new Date() }, files)
    const skills = createSkills({
      store,
      workspaces: {
        open() {
          throw new Error('There is no project.')
        },
      },
      serverFolders: [],
      access: { allowsFeature: () => true },
    })
    const bodies = async (sha256?: string): Promise<string[]> => {
      const known = {
        preferences: NO_PREFERENCES,
        ownSkills: [{ name: NAME, sha256: sha256 ?? '' }],
      }
      const active = await skills.active(userId, null, sha256 === undefined ? undefined : known)
      return active.map(({ body }) => body.trim())
    }
    const [former, newer] = [skillSaying('Be short.'), skillSaying('Be long.')]

    await put(newer)
    expect(await bodies(former.sha256)).toEqual(['Be long.'])
    await put(former)
    expect(await bodies()).toEqual(['Be short.'])
  })
})
