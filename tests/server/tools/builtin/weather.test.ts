// The weather tool against services on loopback that speak the real formats.
import { describe, expect, test } from 'vitest'
import {
  createWeatherTool,
  type WeatherSettings,
} from '../../../../server/tools/builtin/web/weather.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { runTool } from '../support.ts'
import { dataOf, useWeb } from './use-web.ts'

const web = useWeb()

describe('get_weather', () => {
  const weather = (settings: Partial<WeatherSettings>): ToolDefinition =>
    createWeatherTool({ provider: 'open-meteo', ...settings }, web.fetch)
  const openMeteo = () =>
    weather({ geocodingUrl: web.site.origin, forecastUrl: `${web.site.origin}/v1/forecast` })

  test('asks for the name of the city in the language that it is written in, if its letters tell one', async () => {
    const asked: (string | null)[] = []
    web.site.page('/v1/search', (_request, response, url) => {
      asked.push(url.searchParams.get('language'))
      response.setHeader('content-type', 'application/json').end('{}')
    })
    for (const city of [
      'München',
      '北京',
      '臺北時',
      '도쿄',
      'ソウル',
      'Москва',
      'São Paulo',
      'Los Angeles',
    ])
      await runTool(openMeteo(), { city })
    expect(asked).toEqual(['de', 'zh', 'zh', 'ko', 'ja', 'ru', 'pt', 'en'])
  })

  test('finds the city with Open-Meteo and returns the current weather and the forecast', async () => {
    web.site.page('/v1/search', (_request, response, url) => {
      const results =
        url.searchParams.get('name') === '北京'
          ? [
              {
                name: '北京市',
                latitude: 39.9,
                longitude: 116.4,
                country: '中国',
                timezone: 'Asia/Shanghai',
              },
            ]
          : undefined
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }))
    })
    web.site.serve(
      '/v1/forecast',
      'application/json',
      JSON.stringify({
        timezone: 'Asia/Shanghai',
        current: {
          time: '2026-03-01T10:00',
          temperature_2m: 7.5,
          relative_humidity_2m: 40,
          apparent_temperature: 5,
          precipitation: 0,
          weather_code: 61,
          wind_speed_10m: 12,
          wind_direction_10m: 90,
        },
        daily: {
          time: ['2026-03-01'],
          weather_code: [3],
          temperature_2m_max: [9],
          temperature_2m_min: [1],
          precipitation_probability_max: [null],
        },
      }),
    )
    const now = await dataOf(openMeteo(), { city: '北京' })
    expect(now).toMatchObject({
      city: '北京市',
      temperature: 7.5,
      condition: 'slight rain',
      units: { temperature: '°C' },
      forecast: [
        { date: '2026-03-01', condition: 'overcast', max: 9, min: 1, rain_probability: null },
      ],
    })
    await dataOf(openMeteo(), { city: '北京', units: 'imperial' })
    expect(web.site.requests.at(-1)?.url.searchParams.get('temperature_unit')).toBe('fahrenheit')
    expect(await runTool(openMeteo(), { city: 'Nowhere' })).toMatchObject({
      error: expect.stringContaining('No city named "Nowhere"'),
    })
  })

  test('sends its key to OpenWeatherMap and never shows it in a failure', async () => {
    const url = `${web.site.origin}/data/2.5/weather`
    const tool = weather({
      provider: 'openweathermap',
      apiKey: 'top-secret',
      openweathermapUrl: url,
    })
    web.site.serve(
      '/data/2.5/weather',
      'application/json',
      JSON.stringify({
        name: 'Berlin',
        dt: 1772359200,
        sys: { country: 'DE' },
        main: { temp: 3, feels_like: 1, humidity: 80 },
        weather: [{ description: 'light snow' }],
        wind: { speed: 4, deg: 10 },
      }),
    )
    expect(await dataOf(tool, { city: 'Berlin' })).toMatchObject({
      city: 'Berlin',
      condition: 'light snow',
    })
    expect(web.site.requests.at(-1)?.url.searchParams.get('appid')).toBe('top-secret')
    web.site.page('/data/2.5/weather', (_request, response) => void response.writeHead(401).end())
    const refused = await runTool(tool, { city: 'Berlin' })
    expect(refused).toMatchObject({
      error: expect.stringContaining('refused the configured API key'),
    })
    expect(JSON.stringify(refused)).not.toContain('top-secret')
    expect(
      await runTool(weather({ provider: 'openweathermap' }), { city: 'Berlin' }),
    ).toMatchObject({ error: expect.stringContaining('api_key') })
  })

  test('fails when a service is down or returns nonsense', async () => {
    web.site.serve('/nonsense', 'text/html', '<html>')
    for (const geocodingUrl of [`${web.site.origin}/nonsense`, 'http://127.0.0.1:9/'])
      expect(await runTool(weather({ geocodingUrl }), { city: 'X' })).toMatchObject({
        error: expect.stringContaining('not available'),
      })
  })
})
