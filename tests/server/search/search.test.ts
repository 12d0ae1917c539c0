// What a search finds in titles, messages, tool calls and attachments, on both databases.
import { expect, test } from 'vitest'
import { rounds, SEED } from '../../support/random.ts'
import { describeSearch } from '../../support/store/searches.ts'
import { say } from '../../support/store/store-rows.ts'

describeSearch('search', (given) => {
  const { person, find, snippets, found } = given

  test('a hit contains all unquoted words, and they are marked', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'How do I deploy nginx?', null)
    await say(given.database, conversation, 'nginx alone', null)
    await say(given.database, conversation, 'Deploying is hard. NGINX: deploy it twice', null)
    expect(await snippets(userId, 'deploy nginx')).toEqual([
      'Deploying is hard. <mark>NGINX</mark>: <mark>deploy</mark> it twice',
      'How do I <mark>deploy</mark> <mark>nginx</mark>?',
    ])
  })

  test('texts about the words rank above texts that mention them, and equal texts are ordered newest first', async () => {
    const { userId, conversation } = await person()
    const filler = 'something else entirely that nobody asked about. '.repeat(40)
    await say(given.database, conversation, `${filler} ${'A heron colony! '.repeat(8)}`, null)
    await say(given.database, conversation, 'an old heron colony', null)
    await say(given.database, conversation, 'a new heron colony', null)
    await say(given.database, conversation, `A heron. ${filler} Once there was a colony.`, null)
    expect(await found(userId, 'heron colony')).toEqual([
      'a new heron colony',
      'an old heron colony',
      expect.stringContaining('A heron colony! A heron colony!'),
      expect.stringContaining('A heron. something else'),
    ])
  })

  test('without a full match, messages with most of the words are found', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'red green', null)
    await say(given.database, conversation, 'only red', null)
    expect(await found(userId, 'red green blue')).toEqual(['red green'])
    expect(await found(userId, '"red green blue"')).toEqual([])
  })

  test('Chinese and Japanese are found by words, by phrases and by a single character', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, '今天以太坊的价格是多少？', null)
    await say(given.database, conversation, '東京タワーへ行きたい', null)
    expect(await snippets(userId, '以太坊')).toEqual(['今天<mark>以太坊</mark>的价格是多少？'])
    expect(await snippets(userId, '价')).toEqual(['今天以太坊的<mark>价</mark>格是多少？'])
    expect(await snippets(userId, '少')).toEqual(['今天以太坊的价格是多<mark>少</mark>？'])
    expect(await snippets(userId, 'タワー')).toEqual(['東京<mark>タワー</mark>へ行きたい'])
    expect(await found(userId, '"价格是"')).toHaveLength(1)
    expect(await found(userId, '"格价"')).toEqual([])
  })

  test('the last word finds words that begin with it while it is being typed, but only if few texts contain it', async () => {
    const { userId, conversation } = await person()
    const texts = ['about microservices', 'данные отчёта', 'call getUserName()', 'policies']
    for (const text of texts) await say(given.database, conversation, text, null)
    expect(await snippets(userId, 'about microser')).toEqual([
      '<mark>about</mark> <mark>microservices</mark>',
    ])
    expect(await snippets(userId, 'данн')).toEqual(['<mark>данные</mark> отчёта'])
    expect(await found(userId, 'getUser')).toEqual(['call getUserName()'])
    for (const q of ['pol', 'polici', 'policie', 'policies', 'policy'])
      expect(await found(userId, q), q).toEqual(['policies'])
    for (const q of ['microser ', '"microser"', 'microser about', 'by:me -x microser -about'])
      expect(await found(userId, q), q).toEqual([])
    await say(given.database, conversation, 'a micro service', null)
    expect(await found(userId, 'micro')).toEqual(['a micro service', 'about microservices'])
  })

  test('parts of compounds are found, with the whole word marked', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'Die Donaudampfschifffahrtsgesellschaft', null)
    await say(given.database, conversation, 'Haustür', null)
    for (const q of ['Donaudampf', 'schifffahrt', 'Gesellschaft', 'schifffahrt die'])
      expect(await snippets(userId, q), q).toHaveLength(1)
    expect(await snippets(userId, 'dampfschiff')).toEqual([
      'Die <mark>Donaudampfschifffahrtsgesellschaft</mark>',
    ])
    expect(await found(userId, '"Gesellschaft"')).toEqual([])
  })

  test('emoji, Arabic with and without article and vowel marks, and Hebrew with and without points are found', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'a party 🎉 tomorrow ❤️', null)
    await say(given.database, conversation, 'قرأتُ الكِتَابَ الجديد', null)
    await say(given.database, conversation, 'שָׁלוֹם לכם', null)
    expect(await snippets(userId, '🎉')).toEqual(['a party <mark>🎉</mark> tomorrow ❤️'])
    expect(await found(userId, '❤')).toHaveLength(1)
    for (const q of ['كتاب', 'الكتاب', 'والكتاب', 'كِتَاب', '"كتاب جديد"'])
      expect(await snippets(userId, q), q).toEqual([expect.stringContaining('<mark>الكِتَابَ')])
    for (const q of ['שלום', 'שָׁלוֹם']) expect(await found(userId, q), q).toEqual(['שָׁלוֹם לכם'])
  })

  test('case, accents and full-width letters do not matter, and the snippet shows the text as written', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'Café CRÈME für ＡＢＣ & <b>Ünal</b>', null)
    for (const q of ['cafe creme', 'CAFÉ', 'fur abc'])
      expect(await found(userId, q), q).toHaveLength(1)
    expect(await snippets(userId, 'ünal abc')).toEqual([
      'Café CRÈME für <mark>ＡＢＣ</mark> &amp; &lt;b&gt;<mark>Ünal</mark>&lt;/b&gt;',
    ])
  })

  test('quotes, minus, by:me, has:file, in: and types narrow the search', async () => {
    const { userId, conversation } = await person()
    const project = await given.store.projects.create(userId, {
      name: 'Big Plans',
      description: null,
    })
    const { id: inside } = await given.store.conversations.create(userId, { projectId: project.id })
    await say(given.database, conversation, 'apple pie', null)
    await say(given.database, conversation, 'pie of apple', null)
    await say(given.database, inside, 'apple tree', null, {
      files: [{ name: 'orchard map.txt', extension: 'txt', content: 'rows of quince' }],
    })
    expect(await found(userId, '"apple pie"')).toEqual(['apple pie'])
    expect(await found(userId, 'apple -pie')).toEqual(['apple tree'])
    expect(await found(userId, 'apple -"apple pie"')).toEqual(['apple tree', 'pie of apple'])
    expect(await found(userId, 'apple in:"big plans"')).toEqual(['apple tree'])
    expect(await found(userId, 'apple in:elsewhere')).toEqual([])
    await given.store.conversations.patch(userId, inside, { tags: ['Garden', 'old'] })
    expect(await found(userId, 'apple tag:garden tag:old')).toEqual(['apple tree'])
    expect(await found(userId, 'tag:garden', { type: 'message' })).toEqual(['apple tree'])
    expect(await found(userId, 'apple tag:garden tag:new')).toEqual([])
    expect(await found(userId, 'apple', { projectId: project.id })).toEqual(['apple tree'])
    expect(await found(userId, 'apple has:file')).toEqual(['apple tree'])
    expect(await found(userId, 'apple by:me')).toHaveLength(3)
    expect(await found(userId, 'quince orchard', { type: 'file' })).toEqual([
      'orchard map.txt rows of quince',
    ])
    expect(await found(userId, 'apple', { type: 'tool' })).toEqual([])
    expect(await found(userId, 'apple', { conversationId: inside })).toEqual(['apple tree'])
    expect(await found(userId, 'apple', { from: new Date(Date.now() + 60_000) })).toEqual([])
  })

  test('answers are found by their text and tool steps, but not by their thinking', async () => {
    const { userId, conversation } = await person()
    const messageId = await say(given.database, conversation, '', null, { role: 'assistant' })
    await given.database.write(async (tx) => {
      const step = { messageId, closed: true, firstEvent: 1, cuts: '' }
      const prose = { ...step, skipped: false }
      await given.store.steps.store(tx, userId, {
        ...prose,
        position: 0,
        type: 'thinking',
        content: 'zebra',
      })
      await given.store.steps.store(tx, userId, {
        ...prose,
        position: 1,
        type: 'text',
        content: 'The giraffe',
      })
      await given.store.steps.store(tx, userId, {
        messageId,
        position: 2,
        type: 'tool_result',
        name: 'web_search',
        content: '{"data":"first\\nokapi"}',
        skipped: false,
        closed: true,
      })
    })
    expect(await found(userId, 'zebra')).toEqual([])
    expect((await find(userId, 'giraffe')).items).toMatchObject([
      { type: 'message', message: { id: messageId, role: 'assistant', stepId: 'step-1' } },
    ])
    expect((await find(userId, 'okapi')).items).toMatchObject([
      { type: 'tool', message: { stepId: 'step-2' } },
    ])
    await given.database.write((tx) => given.store.steps.removeFrom(tx, messageId, 2))
    expect(await found(userId, 'okapi')).toEqual([])
  })

  test('titles come first, follow a rename and have no message', async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, 'about walnuts', null)
    await given.store.conversations.patch(userId, conversation, { title: 'Walnuts and more' })
    const { items } = await find(userId, 'walnut')
    expect(items.map(({ type }) => type)).toEqual(['title', 'message'])
    expect(items[0]).not.toHaveProperty('message')
    await given.store.conversations.patch(userId, conversation, { title: 'Almonds' })
    expect(await found(userId, 'walnut', { type: 'title' })).toEqual([])
    expect(await found(userId, 'almonds', { type: 'title' })).toEqual(['Almonds'])
  })

  test("a user never finds another user's texts, however many there are", async () => {
    const [mine, theirs] = [await person(), await person()]
    await say(given.database, mine.conversation, 'secret papaya', null)
    for (let at = 0; at < 30; at += 1)
      await say(given.database, theirs.conversation, `papaya ${at}`, null)
    expect(await found(mine.userId, 'papaya', { limit: 5 })).toEqual(['secret papaya'])
    expect(await found(mine.userId, 'papaya -secret')).toEqual([])
    expect(await found(mine.userId, 'papaya', { conversationId: theirs.conversation })).toEqual([])
  })

  test('a text of several parts is found by its beginning and its end', async () => {
    const { userId, conversation } = await person()
    const text = `aardvark 😀 ${'filler words without sense 😀. '.repeat(2_000)} zyzzyva`
    await say(given.database, conversation, text, null)
    expect(await snippets(userId, 'zyzzyva')).toEqual([
      expect.stringContaining('<mark>zyzzyva</mark>'),
    ])
    expect(await snippets(userId, 'aardvark')).toEqual([
      expect.stringContaining('<mark>aardvark</mark> 😀'),
    ])
  })

  test(`hostile queries are treated as plain text, cause no error and never find another user's text (seed ${SEED})`, async () => {
    const { userId, conversation } = await person()
    await say(given.database, conversation, "It's “odd”: 100% NEAR(x) AND y OR z NOT 以太坊", null)
    const other = await person()
    await say(given.database, other.conversation, 'the other one says odd things', null)
    const pieces = [
      '"',
      "'",
      '*',
      '(',
      ')',
      ':',
      '^',
      '-',
      '\\',
      '&',
      '|',
      '!',
      '<->',
      'AND',
      'OR',
      'NOT',
      'NEAR',
      'in:',
      'by:',
      'has:',
      'by:me',
      'odd',
      '以',
      '太坊',
      'é',
      '\u0301',
      '\u{20000}',
      '\u{1F600}',
      '\uE000',
      '\0',
      '\ud800',
      '½',
      ' ',
      '  ',
      'words:',
      '%',
      '_',
      ';--',
      '\u0e01\u0e34',
    ]
    for (const { random, what } of rounds(150)) {
      const q = Array.from({ length: 1 + random.below(9) }, () => random.pick(pieces)).join(
        random.pick(['', ' ']),
      )
      const hits = await find(userId, q).catch((error: unknown) => {
        throw new Error(`${what} ${JSON.stringify(q)}`, { cause: error })
      })
      for (const hit of hits.items) expect(hit.conversationId, `${what} ${q}`).toBe(conversation)
    }
  })
})
