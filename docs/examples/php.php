<?php
// Looks up one address: php php.php POSTCODE HUISNUMMER [TOEVOEGING]
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and PHP 8.1 or newer with openssl and allow_url_fopen.
declare(strict_types=1);

// A file with the key often ends with a line end.
[$baseUrl, $key] = [trim((string) getenv('BAG_ADRES_URL')), trim((string) getenv('BAG_ADRES_KEY'))];
if ($baseUrl === '' || $key === '') {
    fail('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
}
if (!preg_match('/^bagadres_[\w.-]+$/D', $key)) {
    fail('BAG_ADRES_KEY is not an API key.');
}
$query = ['postcode' => $argv[1] ?? '', 'huisnummer' => $argv[2] ?? '', 'toevoeging' => $argv[3] ?? ''];
// The separator is named because `arg_separator.output` may be another.
$url = rtrim($baseUrl, '/') . '/v1/address?' . http_build_query($query, '', '&');

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/** Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response after a growing pause. */
function send(string $url, string $key, int $triesLeft = 2, int $pause = 1): array
{
    // A redirect would take the key along.
    $http = ['header' => "X-API-Key: $key", 'timeout' => 10, 'ignore_errors' => true, 'follow_location' => 0];
    $stream = @fopen($url, 'r', false, stream_context_create(['http' => $http]));
    if ($stream === false && $triesLeft === 0) {
        fail('no response: check BAG_ADRES_URL and the connection');
    }
    $headers = $stream === false ? [] : stream_get_meta_data($stream)['wrapper_data'];
    $status = (int) (explode(' ', $headers[0] ?? '')[1] ?? 0);
    $retryAfter = preg_replace('/^retry-after: */i', '', preg_grep('/^retry-after:/i', $headers));
    $wait = (int) (end($retryAfter) ?: $pause);
    $isFinal = $triesLeft === 0 || !in_array($status, [429, 500, 503], true) || $wait > 30;
    if ($stream !== false && $isFinal) {
        $answer = json_decode((string) stream_get_contents($stream), true);
        return is_array($answer) ? [$status, $answer] : fail("$status, and no valid response: check BAG_ADRES_URL");
    }
    sleep($wait);
    return send($url, $key, $triesLeft - 1, 2 * $pause);
}

function line(array $place): string
{
    return "{$place['straat']}, {$place['woonplaats']}";
}

function notFound(array $toevoegingen): string
{
    $existing = implode(', ', array_map(fn (?string $one): string => $one ?? 'none', $toevoegingen));
    return $existing === '' ? 'no such address' : "no such address; existing toevoegingen: $existing";
}

[$status, $answer] = send($url, $key);
if ($status !== 200) {
    $faults = array_column($answer['errors'] ?? [], 'detail');
    // API Gateway's own refusals have only a message.
    $first = isset($answer['title']) ? "{$answer['title']}: {$answer['detail']}" : $answer['message'] ?? '';
    fail(implode("\n", ["$status $first", ...$faults]));
}
echo match ($answer['status'] ?? '') {
    'ok' => line($answer['address']),
    'ambiguous' => 'several: ' . implode('; ', array_map('line', $answer['candidates'])),
    'not_found' => notFound($answer['toevoegingen']),
    default => fail('200, and no valid response: check BAG_ADRES_URL'),
}, "\n";
